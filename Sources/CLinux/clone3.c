// glibc offers no clone3 that takes a function, and a C function cannot return on another
// stack than the one it was called on, so that these few instructions have to be assembler.
#include "clone3.h"

#if defined(__x86_64__)
__asm__(".text\n"
        ".globl clx_clone3\n"
        ".hidden clx_clone3\n"
        ".type clx_clone3, @function\n"
        "clx_clone3:\n"
        ".cfi_startproc\n"
        "    movq %rcx, %r8\n" /* the kernel clobbers rcx and r11 */
        "    movl $435, %eax\n"
        "    syscall\n"
        "    testq %rax, %rax\n"
        "    jz 1f\n"
        "    ret\n"
        "1:\n"
        ".cfi_undefined %rip\n"
        "    xorl %ebp, %ebp\n"
        "    movq %r8, %rdi\n"
        "    callq *%rdx\n"
        "    movl %eax, %edi\n"
        "    movl $60, %eax\n"
        "    syscall\n"
        "    hlt\n"
        ".cfi_endproc\n"
        ".size clx_clone3, . - clx_clone3\n");
#elif defined(__aarch64__)
__asm__(".text\n"
        ".globl clx_clone3\n"
        ".hidden clx_clone3\n"
        ".type clx_clone3, %function\n"
        "clx_clone3:\n"
        ".cfi_startproc\n"
        "    mov x9, x2\n"
        "    mov x10, x3\n"
        "    mov x8, #435\n"
        "    svc #0\n"
        "    cbz x0, 1f\n"
        "    ret\n"
        "1:\n"
        ".cfi_undefined x30\n"
        "    mov x29, #0\n"
        "    mov x0, x10\n"
        "    blr x9\n"
        "    mov x8, #93\n"
        "    svc #0\n"
        "    brk #1\n"
        ".cfi_endproc\n"
        ".size clx_clone3, . - clx_clone3\n");
#else
#error "clone3 has to be written for this processor"
#endif
